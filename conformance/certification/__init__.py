"""Certification: thousands of generated sessions, played in parallel, judged, and added up."""

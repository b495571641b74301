/** Canonical JSON (RFC 8785), and the content that an item has by it. */

import type { Message, ToolDefinition } from './contract.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** `JSON.stringify` is RFC 8785 but for the order of keys, which is by UTF-16 units: that of `sort`. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = value as { readonly [key: string]: Json };
  const fields = Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key] ?? null)}`);
  return `{${fields.join(',')}}`;
}

export function contentOfTool(tool: ToolDefinition): string {
  const parameters = JSON.parse(tool.parameters_json) as Json;
  return canonical({ name: tool.name, description: tool.description, parameters });
}

export function contentOf(message: Message): string {
  if (message.type !== 'tool_call') return message.text;
  return canonical({ name: message.name, arguments: message.arguments });
}

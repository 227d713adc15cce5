/** The object or list that a text is the JSON of; undefined for every other text. */
export function jsonOf(text: string): object | undefined {
  const trimmed = text.trim();
  const isWrapped =
    (trimmed.startsWith('{') && trimmed.endsWith('}')) || (trimmed.startsWith('[') && trimmed.endsWith(']'));
  if (!isWrapped) return undefined;
  try {
    const value = JSON.parse(trimmed) as object;
    return Object.keys(value).length === 0 ? undefined : value;
  } catch {
    return undefined;
  }
}

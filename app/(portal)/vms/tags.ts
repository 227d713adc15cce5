/** Parses `role=web, region=eu`. Returns the tags, or null if a part is not `name=value`. */
export function readTags(text: string): Record<string, string> | null {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const tags: Record<string, string> = {};
  for (const part of parts) {
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    if (at < 1 || name === '') return null;
    tags[name] = part.slice(at + 1).trim();
  }
  return tags;
}

/** Formats tags in the form that `readTags` parses. Commas in values are not escaped. */
export function writeTags(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

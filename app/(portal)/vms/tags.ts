/** Matches a tag. Groups 1 and 2 contain the quoted or unquoted name, groups 3 and 4 the quoted or unquoted value. */
const tag = /\s*(?:"((?:[^"]|"")*)"|([^",=][^,=]*?))\s*=\s*(?:"((?:[^"]|"")*)"|([^",][^,]*?|))\s*(?:,|$)/y;
const nothing = /\s*(?:,|$)/y;

/**
 * Parses `role=web, note="a, b"`. Returns the tags, or null if a part is not `name=value`. A quotation mark within
 * quotation marks is doubled.
 */
export function readTags(text: string): Record<string, string> | null {
  const tags: [string, string][] = [];
  for (let at = 0; at < text.length; ) {
    tag.lastIndex = at;
    nothing.lastIndex = at;
    const found = tag.exec(text);
    if (found !== null) {
      const [, quotedName, name, quotedValue, value] = found;
      tags.push([unquoted(quotedName) ?? name ?? '', unquoted(quotedValue) ?? value ?? '']);
      at = tag.lastIndex;
    } else if (nothing.test(text)) at = nothing.lastIndex;
    else return null;
  }
  return tags.some(([name]) => name === '') ? null : Object.fromEntries(tags);
}

/** Formats tags in the form that `readTags` parses. */
export function writeTags(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${quoted(name, /[",=]|^\s|\s$/)}=${quoted(value, /[",]|^\s|\s$/)}`)
    .join(', ');
}

const unquoted = (text: string | undefined) => text?.replaceAll('""', '"');
const quoted = (text: string, needs: RegExp) => (needs.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

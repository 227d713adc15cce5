import Builder from 'fast-xml-builder';

/**
 * The content of an element by name: a text, the elements inside, attributes as `@name`, text next to attributes as
 * `#text`. An array is several elements of that name.
 */
export interface XmlTree {
  [name: string]: string | XmlTree | readonly XmlTree[] | readonly string[] | undefined;
}

const builder = new Builder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
  // The renderer must not shorten attributes whose value is true, because XML has none without a value.
  suppressBooleanAttributes: false,
});

/** Characters that XML cannot contain, even escaped. The name of a VM may contain them. */
const impossible = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Renders a document. Everything is escaped, and CDATA is not used, because the agent reads only text nodes. */
export function xmlOf(tree: XmlTree): string {
  const text = builder.build(tree).replace(impossible, '\ufffd');
  return `<?xml version="1.0" encoding="utf-8"?>\n${text}`;
}

/** Returns JSON in ASCII, so that it contains only characters that XML allows. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

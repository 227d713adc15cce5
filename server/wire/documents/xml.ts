import Builder from 'fast-xml-builder';

/** An element by its name: text, elements within, attributes as `@name`, text beside attributes as `#text`; several as a list. */
export interface XmlTree {
  [name: string]: string | XmlTree | readonly XmlTree[] | readonly string[] | undefined;
}

const builder = new Builder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
  // A name alone is no attribute in XML.
  suppressBooleanAttributes: false,
});

/** Characters that XML cannot contain, escaped or not; people type the names of VMs. */
const impossible = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** A whole document. Everything is escaped, and nothing is in CDATA: the agent reads text nodes only. */
export function xmlOf(tree: XmlTree): string {
  const text = builder.build(tree).replace(impossible, '\ufffd');
  return `<?xml version="1.0" encoding="utf-8"?>\n${text}`;
}

/** JSON in ASCII, so that no character of a setting can be one that XML does not know. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

import Builder from 'fast-xml-builder';

/**
 * The contents of an XML element, by name. A string or a tree is a child element, and an array is several children with
 * the same name. `@name` is an attribute, and `#text` is the text of an element that has attributes.
 */
export interface XmlTree {
  [name: string]: string | XmlTree | readonly XmlTree[] | readonly string[] | undefined;
}

const builder = new Builder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
  // Keeps the values of attributes that are "true", because XML has no attributes without a value.
  suppressBooleanAttributes: false,
});

/** Characters that XML cannot contain, even escaped. A VM's name may contain them. */
const impossible = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Renders a document. Escapes texts instead of using CDATA, because the agent reads only text nodes. */
export function xmlOf(tree: XmlTree): string {
  const text = builder.build(tree).replace(impossible, '\ufffd');
  return `<?xml version="1.0" encoding="utf-8"?>\n${text}`;
}

/** Returns JSON in ASCII, so that XML allows all of its characters. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Height of a line in the JSON editor, in pixels. */
export const jsonLineHeight = 18;
/** Space above the first line and below the last line, in pixels. */
export const jsonPadding = { top: 4, bottom: 10 };

/** Returns the height of the JSON editor with this text, as CSS, so that its space can be reserved while it loads. */
export function jsonHeight(text: string): string {
  const height = text.split('\n').length * jsonLineHeight + jsonPadding.top + jsonPadding.bottom;
  return `min(${height}px, 70vh)`;
}

/** Characters that shape their neighbors: joiners and variation selectors. */
const shaping = '\\u200c|\\u200d|[\\ufe00-\\ufe0f]';
/** Marks that people type to control the word order in right-to-left scripts. They do not reverse other characters. */
const directions = '\\u061c|\\u200e|\\u200f';
const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Other characters without a visible shape. */
const shapeless = new RegExp(`(?!${shaping}|${directions})\\p{Default_Ignorable_Code_Point}`, 'u');
const direction = new RegExp(directions, 'u');
/** Joiners and variation selectors without a neighbor to shape. */
const alone = new RegExp(`(?:^|\\s)(?:${shaping})|(?:\\u200c|\\u200d)(?:$|\\s)`, 'u');

/**
 * Whether a text contains invisible characters, such as a zero-width space. Names must not contain them, because names
 * that differ only in invisible characters look the same.
 */
export function hasInvisible(text: string): boolean {
  return shapeless.test(text) || alone.test(text) || (direction.test(text) && !rightToLeft.test(text));
}

// Literal braces, then placeholders in the document's two spellings.
const token = /\{\{|\}\}|\{(\d{1,4})\}|<(\d{1,4})>/g;

/**
 * Fills `{0}` or `<0>` by index (AZ-L4). A placeholder without a param stays as it is, `{{` and `}}` become braces,
 * and what a param holds is never looked at again.
 */
export function fillTemplate(template: string, params: readonly string[]): string {
  return template.replace(token, (found: string, braced?: string, angled?: string) => {
    if (found === '{{') return '{';
    if (found === '}}') return '}';
    return params[Number(braced ?? angled)] ?? found;
  });
}

/** The indexes of a template's placeholders, ascending, each once. */
export function placeholdersOf(template: string): number[] {
  const indexes = [...template.matchAll(token)].flatMap(([, braced, angled]) => {
    const index = braced ?? angled;
    return index === undefined ? [] : [Number(index)];
  });
  return [...new Set(indexes)].toSorted((a, b) => a - b);
}

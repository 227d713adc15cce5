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

/** A template taken apart: `literals[0]`, the placeholder `indexes[0]`, `literals[1]`, … and a literal at the end. */
export interface TemplateParts {
  literals: string[];
  indexes: number[];
}

/** What stands between a template's placeholders, with `{{` and `}}` as the braces that they become. */
export function partsOf(template: string): TemplateParts {
  const parts: TemplateParts = { literals: [], indexes: [] };
  let literal = '';
  let end = 0;
  for (const { 0: found, 1: braced, 2: angled, index: at } of template.matchAll(token)) {
    literal += template.slice(end, at);
    end = at + found.length;
    const index = braced ?? angled;
    if (index === undefined) literal += found.charAt(0);
    else {
      parts.literals.push(literal);
      parts.indexes.push(Number(index));
      literal = '';
    }
  }
  parts.literals.push(literal + template.slice(end));
  return parts;
}

/** The indexes of a template's placeholders, ascending, each once. */
export function placeholdersOf(template: string): number[] {
  return [...new Set(partsOf(template).indexes)].toSorted((a, b) => a - b);
}

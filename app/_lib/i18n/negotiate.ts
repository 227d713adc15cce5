import { baseLanguage, mirroredLanguage, pseudoLanguage } from './namespaces.ts';

/**
 * The language of the pages: the person's choice, else the first of `Accept-Language` that there are words for
 * (`de-AT` is served by `de`), else English. The two test languages are only ever chosen by hand.
 */
export function negotiateLanguage(
  choice: string | undefined,
  acceptLanguage: string | null,
  available: readonly string[],
): string {
  if (choice !== undefined && [pseudoLanguage, mirroredLanguage, ...available].includes(choice)) return choice;
  for (const wanted of wishes(acceptLanguage ?? '')) {
    for (const candidate of lineage(wanted)) {
      const found = available.find((language) => language.toLowerCase() === candidate);
      if (found !== undefined) return found;
    }
  }
  return baseLanguage;
}

/** Language tags by falling weight; those of weight 0 and the wildcard are left out. */
function wishes(header: string): string[] {
  return header
    .split(',')
    .map((part, index) => {
      const [tag = '', ...params] = part.trim().split(';');
      const weight = params.map((param) => /^\s*q=([\d.]+)\s*$/.exec(param)?.[1]).find((q) => q !== undefined);
      return { tag: tag.trim().toLowerCase(), weight: weight === undefined ? 1 : Number(weight), index };
    })
    .filter(({ tag, weight }) => /^[a-z]{2,3}(-[a-z0-9]{1,8})*$/.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .map(({ tag }) => tag);
}

/** `zh-hant-tw` → itself, `zh-hant`, `zh`. */
function lineage(tag: string): string[] {
  const parts = tag.split('-');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
}

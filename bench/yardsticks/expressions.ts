import { partsOf } from '#protocol/template.ts';

/**
 * Returns a function that finds the message of a text in the obvious way: it tries one regular expression per template,
 * in order.
 */
export function byExpressions(messages: Readonly<Record<string, string>>) {
  const tried = Object.entries(messages).map(([id, template]) => {
    const { literals, indexes } = partsOf(template);
    const quoted = literals.map((literal) => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return { id, indexes, expression: new RegExp(`^${quoted.join('([^]*)')}$`) };
  });
  return (text: string): { id: string; params: string[] } | null => {
    for (const { id, indexes, expression } of tried) {
      const found = expression.exec(text);
      if (found === null) continue;
      const params: string[] = [];
      for (const [place, index] of indexes.entries()) params[index] = found[place + 1] ?? '';
      return { id, params };
    }
    return null;
  };
}

import { describe, expect, it } from 'vitest';
import { availableLanguages, bundlesOf } from './catalog.ts';
import { createWords } from './create.ts';
import { mirroredLanguage, namespaces, pseudoLanguage } from './namespaces.ts';
import { translate } from './translate.ts';

/** Returns a value for every placeholder of a sentence, derived from the placeholder's name. */
function valuesFor(sentence: string): Record<string, string> {
  return Object.fromEntries([...sentence.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => [name, `‹${name}›`]));
}

describe.each([...availableLanguages(), pseudoLanguage, mirroredLanguage])('words in %s', (language) => {
  const bundles = bundlesOf(language, namespaces);
  const library = createWords(language, bundles);

  it.each(namespaces)('browser and server translate %s in the same way', (namespace) => {
    const ours: string[] = [];
    const theirs: string[] = [];
    const t: (key: string, values: object) => string = library.getFixedT(language, namespace);
    for (const [key, sentence] of Object.entries(bundles[namespace] ?? {})) {
      const bare = key.replace(/_(zero|one|two|few|many|other)$/, '');
      const counts = bare === key ? [undefined] : [0, 1, 2, 5, 100, 12_408];
      for (const count of counts) {
        const values = { ...valuesFor(sentence), ...(count === undefined ? {} : { count }) };
        ours.push(translate(language, bundles, [namespace], bare, values));
        theirs.push(t(bare, values));
      }
    }
    expect(ours).toEqual(theirs);
  });
});

describe('translate', () => {
  const bundles = { common: { a: 'A {{x}}', n_one: '{{count}} thing', n_other: '{{count}} things' }, vms: { a: 'V' } };

  it('takes the first namespace that has the key, or the one that the key names', () => {
    expect(translate('en', bundles, ['vms', 'common'], 'a')).toBe('V');
    expect(translate('en', bundles, ['vms'], 'common:a', { x: 1 })).toBe('A 1');
    expect(translate('en', bundles, ['vms'], 'n', { count: 2 })).toBe('n');
  });

  it('shows the key if there is no sentence, and nothing for a missing value', () => {
    expect(translate('en', bundles, ['common'], 'none')).toBe('none');
    expect(translate('en', bundles, ['common'], 'a')).toBe('A ');
  });

  it('never treats a value as a template', () => {
    expect(translate('en', bundles, ['common'], 'a', { x: '{{x}} $& $1' })).toBe('A {{x}} $& $1');
  });
});

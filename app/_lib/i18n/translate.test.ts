import { describe, expect, it } from 'vitest';
import { availableLanguages, bundlesOf } from './catalog.ts';
import { createWords } from './create.ts';
import { mirroredLanguage, namespaces, pseudoLanguage } from './namespaces.ts';
import { translate } from './translate.ts';

/** Returns a value for every placeholder of the sentences, derived from the placeholder's name. */
function valuesFor(sentences: readonly string[]): Record<string, string> {
  const names = [...sentences.join().matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
  return Object.fromEntries(names.map((name) => [name, `‹${name}›`]));
}

/** Returns a key without its plural form. */
const bareKey = (key: string): string => key.replace(/_(zero|one|two|few|many|other)$/, '');

describe.each([...availableLanguages(), pseudoLanguage, mirroredLanguage])('words in %s', (language) => {
  const bundles = bundlesOf(language, namespaces);
  const library = createWords(language, bundles);

  it.each(namespaces)('browser and server translate %s in the same way', (namespace) => {
    const ours: string[] = [];
    const theirs: string[] = [];
    const t: (key: string, values: object) => string = library.getFixedT(language, namespace);
    const sentences = Object.entries(bundles[namespace] ?? {});
    for (const [key] of sentences) {
      const bare = bareKey(key);
      const forms = sentences.filter(([other]) => bareKey(other) === bare).map(([, sentence]) => sentence);
      const counts = bare === key ? [undefined] : [0, 1, 2, 5, 100, 12_408];
      for (const count of counts) {
        const values = { ...valuesFor(forms), ...(count === undefined ? {} : { count }) };
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

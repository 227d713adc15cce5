import { describe, expect, it } from 'vitest';
import { negotiateLanguage } from './negotiate.ts';

const available = ['de', 'en', 'zh-Hant'];

describe('negotiateLanguage', () => {
  it.each([
    ['no wish at all', undefined, null, 'en'],
    ['the first wish that there are words for', undefined, 'fr, de;q=0.8, en;q=0.7', 'de'],
    ['a region is served by its language', undefined, 'de-AT', 'de'],
    ['a script is served by itself', undefined, 'zh-Hant-TW', 'zh-Hant'],
    ['a script is not served by another', undefined, 'zh-Hans', 'en'],
    ['weights, not places, decide', undefined, 'en;q=0.3, de;q=0.9', 'de'],
    ['weight 0 means never', undefined, 'de;q=0', 'en'],
    ['anything is English', undefined, '*', 'en'],
    ['a malformed header is no wish', undefined, ';;q=x,,-,de-', 'en'],
    ['the choice goes before the header', 'de', 'en', 'de'],
    ['a choice without words does not count', 'tlh', 'de', 'de'],
    ['the pseudo-language is only chosen', 'en-XA', 'de', 'en-XA'],
    ['the pseudo-language is never negotiated', undefined, 'en-XA', 'en'],
  ])('%s', (_, choice, header, language) => {
    expect(negotiateLanguage(choice, header, available)).toBe(language);
  });
});

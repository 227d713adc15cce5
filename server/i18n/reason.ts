import { causeWords } from '#server/domain/verdicts/index.ts';
import type { VmReason } from '#server/domain/views/index.ts';
import type { Language } from './languages.ts';
import { translate } from './translator.ts';

/** Returns a reason with its text: the handler's message, or the cause in the portal's words. */
export function reasonInWords(reason: VmReason | null, language: Language): VmReason | null {
  if (reason === null || reason.text !== null) return reason;
  const { key, params } = causeWords(reason);
  return { ...reason, text: translate(language, 'overview', key, params).trim(), lang: language };
}

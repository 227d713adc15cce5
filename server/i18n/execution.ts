import { z } from 'zod';
import { endSentence } from '#protocol/executions/sentence.ts';
import { execution, executionDetails } from '#server/domain/executions/index.ts';
import type { Language } from './languages.ts';
import { translate } from './translator.ts';

const message = z
  .object({ id: z.string(), params: z.array(z.string()), text: z.string(), lang: z.string() })
  .nullable()
  .describe('How the execution ended, in the language of the caller; null before.');

export const shownExecution = execution.extend({ message });
export const shownExecutionDetails = executionDetails.extend({ message });

/** Returns an execution with the text of its message (MU-20). */
export function translateExecution<T extends Pick<z.infer<typeof execution>, 'message'>>(
  value: T,
  language: Language,
): Omit<T, 'message'> & { message: z.infer<typeof message> } {
  const { message: said } = value;
  if (said === null) return { ...value, message: null };
  const params = Object.fromEntries(said.params.map((param, index) => [String(index), param]));
  const text = endSentence(translate(language, 'executions', said.id, params));
  return { ...value, message: { ...said, text, lang: language } };
}

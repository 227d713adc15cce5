import type { ListedAct } from './act.ts';

/** Looks up a sentence. Returns the key itself if there is none. */
export type Say = (key: string, values?: Readonly<Record<string, string | number>>) => string;

/**
 * Returns the sentence about an action. Rejected requests of agents have one sentence per reason. If a person gave a
 * reason, the sentence contains it. All unknown actions share one sentence.
 */
export function sentenceOf(
  { action, facts }: Pick<ListedAct, 'action' | 'facts'>,
  values: Readonly<Record<string, string | number>>,
  say: Say,
): string {
  const key = `act.${action}`;
  const keys =
    action === 'agent.reject' ? [`rejected.${facts.reason}`, key] : facts.reason ? [`because.${action}`, key] : [key];
  const sentences = keys.map((each) => ({ each, text: say(each, values) }));
  return sentences.find(({ each, text }) => text !== each)?.text ?? say('unknownAct', { ...values, action });
}

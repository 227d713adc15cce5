import type { FoldedActs, ListedAct } from './act.ts';

/** Looks up a sentence. Returns the key itself if there is none. */
export type Say = (key: string, values?: Readonly<Record<string, string | number>>) => string;

/**
 * Returns the sentence about an action. If the changed parts are known, the sentence has an empty tag `changes` where
 * they are inserted. Rejected requests of agents have one sentence per reason. If a person gave a reason, the sentence
 * contains it. All unknown actions share one sentence.
 */
export function sentenceOf(
  { action, facts, changes }: Pick<ListedAct, 'action' | 'facts' | 'changes'>,
  values: Readonly<Record<string, string | number>>,
  say: Say,
): string {
  const key = `act.${action}`;
  const keys = [
    ...(action === 'rollout.halt' && facts.ringName === undefined ? ['stopped.rollout.halt'] : []),
    ...(action === 'agent.reject' ? [`rejected.${facts.reason}`] : facts.reason ? [`because.${action}`] : []),
    ...(changes === null ? [] : [`changed.${action}`]),
    key,
  ];
  const sentences = keys.map((each) => ({ each, text: say(each, values) }));
  return sentences.find(({ each, text }) => text !== each)?.text ?? say('unknownAct', { ...values, action });
}

/**
 * Returns the sentence about several similar actions. If the actions affect several VMs, or objects of one name on
 * several VMs, the sentence gives the number of VMs. Otherwise, the sentence is about the newest action and gives the
 * number of the other actions.
 */
export function foldedSentence(
  act: Pick<ListedAct, 'action' | 'facts' | 'changes' | 'target'>,
  fold: NonNullable<FoldedActs['fold']>,
  values: Readonly<Record<string, string | number>>,
  say: Say,
): string {
  const isOneName = act.target.kind === 'vm' || fold.targets === 1;
  const key = `folded.${act.action}`;
  const text = fold.vms > 1 && isOneName ? say(key, values) : key;
  if (text !== key) return text;
  return say('fold.more', { sentence: sentenceOf(act, values, say), count: fold.actions - 1 });
}

import { endpointText, type ShownPair } from '../endpoint-pairs.ts';

/** Identifies a pair of endpoints of a new service, whose name may still change. */
const keyOf = ({ requires, provides }: ShownPair, name: string): string =>
  [requires, provides].map((one) => (one.service === name ? `:${one.name}` : endpointText(one))).join(' ');

/**
 * Whether a pair is related unless the reader says otherwise: the service needs it, and there is one way to have it.
 */
const isDefault = (pair: ShownPair, pairs: readonly ShownPair[], name: string): boolean =>
  pair.requires.service === name &&
  !pair.optional &&
  pairs.filter(({ requires }) => endpointText(requires) === endpointText(pair.requires)).length === 1;

/**
 * Returns the pairs to which a new service is related. `changed` are the pairs for which the reader chose the opposite
 * of the default.
 */
export const chosenPairs = (pairs: readonly ShownPair[], changed: readonly string[], name: string): ShownPair[] =>
  pairs.filter((pair) => isDefault(pair, pairs, name) !== changed.includes(keyOf(pair, name)));

/** Returns the changed pairs after the reader chose whether a pair is related. */
export function withChoice(
  changed: readonly string[],
  { pair, pairs, name, isRelated }: { pair: ShownPair; pairs: readonly ShownPair[]; name: string; isRelated: boolean },
): string[] {
  const key = keyOf(pair, name);
  const others = changed.filter((one) => one !== key);
  return isRelated === isDefault(pair, pairs, name) ? others : [...others, key];
}

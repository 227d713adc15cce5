import { type MemberKind, memberKinds } from './words.ts';

/** Returns the kind of a change that has several parts: the first one in the order of `memberKinds`. */
export function winningKind(kinds: Iterable<MemberKind>): MemberKind | null {
  const positions = [...kinds].map((kind) => memberKinds.indexOf(kind));
  return positions.length === 0 ? null : (memberKinds[Math.min(...positions)] ?? null);
}

/** Returns the position that a step stores. */
export const kindPosition = (kind: MemberKind): number => memberKinds.indexOf(kind);

/** Returns the kind at a stored position; throws for a position that no release has stored. */
export function kindAt(position: number): MemberKind {
  const kind = memberKinds[position];
  if (kind === undefined) throw new RangeError(`no kind of member at position ${position}`);
  return kind;
}

/** Changes that raise no sequence number have no health to wait for: they have succeeded when they are delivered. */
export const succeedsOnDelivery = (kind: MemberKind): boolean => kind === 'policy';

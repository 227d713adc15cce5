import { memberKinds } from '#server/domain/rollout-rules/words.ts';

/** A member in the order of its ring. `kind` is the position of its kind in `memberKinds`. */
export interface PlacedMember {
  vmId: string;
  hash: string;
  kind: number;
}

/** A row of `rollout_members`, without the rollout and the ring. */
export interface MemberChunk {
  first: number;
  low: string;
  high: string;
  vmIds: string[];
  kinds: Buffer;
}

/** Maximum number of members in a row. */
export const chunkSize = 4_096;

/** Divides the members of a ring, in order, into rows. */
export function chunksOf(members: readonly PlacedMember[]): MemberChunk[] {
  const chunks: MemberChunk[] = [];
  for (let first = 0; first < members.length; first += chunkSize) {
    const part = members.slice(first, first + chunkSize);
    const [start] = part;
    if (start === undefined) break;
    let [low, high] = [start.hash, start.hash];
    for (const { hash } of part) {
      if (hash < low) low = hash;
      if (hash > high) high = hash;
    }
    chunks.push({
      ...{ first, low, high },
      vmIds: part.map(({ vmId }) => vmId),
      kinds: Buffer.from(part.map(({ kind }) => kind)),
    });
  }
  return chunks;
}

/** The kind of each member, by VM. */
export type MemberKinds = ReadonlyMap<string, number>;

/** Returns the kind of each member in these rows. */
export function kindsOf(chunks: Iterable<Pick<MemberChunk, 'vmIds' | 'kinds'>>): MemberKinds {
  const kinds = new Map<string, number>();
  for (const chunk of chunks) {
    for (const [at, vmId] of chunk.vmIds.entries()) kinds.set(vmId, chunk.kinds[at] ?? -1);
  }
  return kinds;
}

/** Returns the word of a kind; `none` for a VM that is not a member. */
export const wordOf = (kind: number | undefined): string =>
  kind === undefined ? 'none' : (memberKinds[kind] ?? 'none');

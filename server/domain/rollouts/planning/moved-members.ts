import { type MemberKinds, wordOf } from './member-chunks.ts';

/** How many members a new plan treats in another way than the one that was started. */
export interface MovedMembers {
  moved: number;
  /** Members by the kinds before and after, such as `update-settings`; `none` is a VM that is not a member. */
  changes: Readonly<Record<string, number>>;
}

/** Compares two plans: members whose kind differs, and VMs that are members of only one of them. */
export function movedMembers(before: MemberKinds, after: MemberKinds): MovedMembers {
  const changes: Record<string, number> = {};
  let moved = 0;
  const note = (from: number | undefined, to: number | undefined): void => {
    if (from === to) return;
    const name = `${wordOf(from)}-${wordOf(to)}`;
    changes[name] = (changes[name] ?? 0) + 1;
    moved += 1;
  };
  for (const [vmId, kind] of before) note(kind, after.get(vmId));
  for (const [vmId, kind] of after) if (!before.has(vmId)) note(undefined, kind);
  return { moved, changes };
}

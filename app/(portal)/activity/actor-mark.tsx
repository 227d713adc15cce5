'use client';

import { Bot, Cog, KeyRound } from 'lucide-react';
import { Avatar } from '#app/_ui/avatar.tsx';
import type { ListedAct } from './act.ts';

/** A person's initials, or an icon for the kind of program that acted. */
export function ActorMark({ actor: { kind, name } }: { actor: ListedAct['actor'] }) {
  if (kind === 'user') return <Avatar name={name} />;
  const Icon = kind === 'agent' ? Bot : kind === 'system' ? Cog : KeyRound;
  return (
    <span aria-hidden className="inline-grid size-[22px] shrink-0 place-items-center rounded-full bg-press text-ink-2">
      <Icon className="size-3" />
    </span>
  );
}

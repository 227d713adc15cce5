'use client';

import { useQuery } from '@tanstack/react-query';
import { UserRound } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import { type Marks, useMarks } from './use-marks.ts';

type MenuParts = typeof import('#app/_ui/dropdown-menu.tsx');

interface AssignMenuProps {
  group: AttentionGroup;
  /** The id of the problem's title. */
  labelledBy: string;
}

/** A menu that assigns a problem to a member. */
export function AssignMenu({ group, labelledBy }: AssignMenuProps) {
  const { t } = useTranslation('attention');
  const marks = useMarks();
  const id = useId();
  return (
    <LazyMenu
      trigger={
        <Button size="sm" id={id} aria-labelledby={`${id} ${labelledBy}`} className="max-lg:[&>svg]:hidden">
          <UserRound aria-hidden />
          {t('assign')}
        </Button>
      }
    >
      {(parts) => <Members group={group} marks={marks} {...parts} />}
    </LazyMenu>
  );
}

/** The members to whom the problem can be assigned, the reader first. */
function Members({
  group,
  marks,
  MenuItem,
  MenuLabel,
  MenuSeparator,
}: { group: AttentionGroup; marks: Marks } & MenuParts) {
  const { t } = useTranslation('attention');
  const trpc = useTRPC();
  const reader = useReader();
  const members = useQuery(trpc.attention.assignees.queryOptions());
  const others = (members.data?.items ?? []).filter(({ id }) => id !== reader.id);
  const { assignee, key } = group;
  return (
    <>
      {assignee?.id === reader.id ? null : (
        <MenuItem onSelect={() => marks.assign(key, reader)}>{t('assign.me')}</MenuItem>
      )}
      {others.length > 0 ? <MenuLabel>{t('assign.to')}</MenuLabel> : null}
      {others.map((member) => (
        <MenuItem
          key={member.id}
          translate="no"
          disabled={member.id === assignee?.id}
          onSelect={() => marks.assign(key, member)}
        >
          {member.name}
        </MenuItem>
      ))}
      {assignee === null ? null : (
        <>
          <MenuSeparator />
          <MenuItem onSelect={() => marks.assign(key, null)}>{t('assign.none')}</MenuItem>
        </>
      )}
    </>
  );
}

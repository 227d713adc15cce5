'use client';

import { useQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRequestedAct } from '#app/_lib/requested-act.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { ResourceTable } from '../resource-table.tsx';
import type { Member, MemberList } from './member.ts';
import { type MemberAct, MemberRow } from './member-row.tsx';

const InviteDialog = dynamic(() => import('./invite-dialog.tsx').then((module) => module.InviteDialog), { ssr: false });
const EditMemberDialog = dynamic(() => import('./edit-member-dialog.tsx').then((module) => module.EditMemberDialog), {
  ssr: false,
});
const RemoveMemberDialog = dynamic(
  () => import('./remove-member-dialog.tsx').then((module) => module.RemoveMemberDialog),
  { ssr: false },
);
const SessionsDialog = dynamic(() => import('./sessions-dialog.tsx').then((module) => module.SessionsDialog), {
  ssr: false,
});
const ResetFactorsDialog = dynamic(
  () => import('./reset-factors-dialog.tsx').then((module) => module.ResetFactorsDialog),
  { ssr: false },
);

/** Everyone who can sign in. Admins invite and remove members and change their roles. */
export function Members({ first }: { first: MemberList }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const members = useQuery({ ...trpc.members.list.queryOptions(), initialData: first });
  const [open, setOpen] = useState<{ act: 'invite' } | { act: MemberAct; member: Member }>();
  useRequestedAct('invite', () => setOpen({ act: 'invite' }));
  const close = () => setOpen(undefined);
  return (
    <ResourceTable
      title={t('members')}
      note={t('members.count', { count: members.data.items.length })}
      actions={
        <Button variant="primary" onClick={() => setOpen({ act: 'invite' })}>
          <Link2 aria-hidden />
          {t('invite')}
        </Button>
      }
      query={members}
      failedTitle={t('members.failed')}
      columns={[
        { label: t('name') },
        { label: t('email') },
        { label: t('role') },
        { label: t('namespaces') },
        { label: t('factor') },
        { label: t('lastSeen'), end: true },
        { label: t('joined'), end: true, className: 'md:max-lg:hidden' },
      ]}
      row={(member) => <MemberRow key={member.id} member={member} onAct={(act) => setOpen({ act, member })} />}
    >
      {open?.act === 'invite' ? <InviteDialog onClose={close} /> : null}
      {open?.act === 'edit' ? <EditMemberDialog member={open.member} onClose={close} /> : null}
      {open?.act === 'sessions' ? <SessionsDialog member={open.member} onClose={close} /> : null}
      {open?.act === 'reset' ? <ResetFactorsDialog member={open.member} onClose={close} /> : null}
      {open?.act === 'remove' ? <RemoveMemberDialog member={open.member} onClose={close} /> : null}
    </ResourceTable>
  );
}

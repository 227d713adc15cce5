'use client';

import { useQuery } from '@tanstack/react-query';
import { Ellipsis, Link2, UserMinus, UserPen } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { Namespaces } from '../role-cell.tsx';
import type { Member, MemberList } from './member.ts';

const InviteDialog = dynamic(() => import('./invite-dialog.tsx').then((module) => module.InviteDialog), { ssr: false });
const EditMemberDialog = dynamic(() => import('./edit-member-dialog.tsx').then((module) => module.EditMemberDialog), {
  ssr: false,
});
const RemoveMemberDialog = dynamic(
  () => import('./remove-member-dialog.tsx').then((module) => module.RemoveMemberDialog),
  { ssr: false },
);

/** Everybody who can sign in; admins invite, change roles and remove. */
export function Members({ first }: { first: MemberList }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const reader = useReader();
  const members = useQuery({ ...trpc.members.list.queryOptions(), initialData: first });
  const [open, setOpen] = useState<{ act: 'invite' } | { act: 'edit' | 'remove'; member: Member }>();
  const close = () => setOpen(undefined);

  return (
    <Card>
      <CardHeader
        title={t('settings:members')}
        note={t('settings:members.count', { count: members.data.items.length })}
        actions={
          <Button variant="primary" onClick={() => setOpen({ act: 'invite' })}>
            <Link2 aria-hidden />
            {t('settings:invite')}
          </Button>
        }
      />
      {members.error === null ? null : (
        <QueryError
          error={members.error}
          title={t('settings:members.failed')}
          onRetry={members.refetch}
          at={new Date(members.errorUpdatedAt)}
        />
      )}
      <TableFrame label={t('settings:members')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('settings:name')}</Th>
              <Th>{t('settings:email')}</Th>
              <Th>{t('settings:role')}</Th>
              <Th>{t('settings:namespaces')}</Th>
              <Th end>{t('settings:lastSeen')}</Th>
              <Th end>{t('settings:joined')}</Th>
              <Th>
                <span className="sr-only">{t('settings:acts')}</span>
              </Th>
            </tr>
          </THead>
          <TBody>
            {members.data.items.map((member) => (
              <Tr key={member.id}>
                <Td className="font-medium">
                  <span className="flex items-center gap-2">
                    {member.name}
                    {member.id === reader.id ? <Chip className="font-normal">{t('settings:isYou')}</Chip> : null}
                  </span>
                </Td>
                <Td className="text-ink-2">{member.email}</Td>
                <Td>{t(`common:role.${member.role}`)}</Td>
                <Td className="whitespace-normal">
                  <Namespaces role={member.role} namespaces={member.namespaces} />
                </Td>
                <Td end className="text-ink-2">
                  {member.lastSeenAt === null ? (
                    <span className="text-ink-3">{t('settings:lastSeen.never')}</span>
                  ) : (
                    <RelativeTime value={member.lastSeenAt} />
                  )}
                </Td>
                <Td end className="text-ink-2">
                  <DateTime value={member.createdAt} style="date" />
                </Td>
                <Td end className="w-px">
                  <LazyMenu
                    trigger={
                      <IconButton size="sm" label={t('settings:actsFor', { name: member.name })}>
                        <Ellipsis aria-hidden />
                      </IconButton>
                    }
                  >
                    {({ MenuItem }) => (
                      <>
                        <MenuItem onSelect={() => setOpen({ act: 'edit', member })}>
                          <UserPen aria-hidden />
                          {t('settings:edit')}
                        </MenuItem>
                        <MenuItem danger onSelect={() => setOpen({ act: 'remove', member })}>
                          <UserMinus aria-hidden />
                          {t('settings:remove')}
                        </MenuItem>
                      </>
                    )}
                  </LazyMenu>
                </Td>
              </Tr>
            ))}
          </TBody>
        </Table>
      </TableFrame>
      {open?.act === 'invite' ? <InviteDialog onClose={close} /> : null}
      {open?.act === 'edit' ? <EditMemberDialog member={open.member} onClose={close} /> : null}
      {open?.act === 'remove' ? <RemoveMemberDialog member={open.member} onClose={close} /> : null}
    </Card>
  );
}

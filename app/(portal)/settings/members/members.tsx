'use client';

import { useQuery } from '@tanstack/react-query';
import { Ellipsis, Link2, MonitorSmartphone, ShieldOff, UserMinus, UserPen } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useRequestedAct } from '#app/_lib/requested-act.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { narrowTable } from '../narrow-table.ts';
import { hasNamespaces, Namespaces } from '../role-cell.tsx';
import type { Member, MemberList } from './member.ts';

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

/** Everybody who can sign in; admins invite, change roles and remove. */
export function Members({ first }: { first: MemberList }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const reader = useReader();
  const members = useQuery({ ...trpc.members.list.queryOptions(), initialData: first });
  const [open, setOpen] = useState<
    { act: 'invite' } | { act: 'edit' | 'sessions' | 'reset' | 'remove'; member: Member }
  >();
  useRequestedAct('invite', () => setOpen({ act: 'invite' }));
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
        <Table className={narrowTable}>
          <THead>
            <tr>
              <Th>{t('settings:name')}</Th>
              <Th>{t('settings:email')}</Th>
              <Th>{t('settings:role')}</Th>
              <Th>{t('settings:namespaces')}</Th>
              <Th>{t('settings:factor')}</Th>
              <Th end>{t('settings:lastSeen')}</Th>
              <Th end className="md:max-lg:hidden">
                {t('settings:joined')}
              </Th>
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
                    <span translate="no">{member.name}</span>
                    {member.id === reader.id ? <Chip className="font-normal">{t('settings:isYou')}</Chip> : null}
                  </span>
                </Td>
                <Td data-label={t('settings:email')} className="text-ink-2 wrap-anywhere">
                  {member.email}
                </Td>
                <Td data-label={t('settings:role')}>{t(`common:role.${member.role}`)}</Td>
                {hasNamespaces(member.role) ? (
                  <Td data-label={t('settings:namespaces')} className="whitespace-normal">
                    <Namespaces role={member.role} namespaces={member.namespaces} />
                  </Td>
                ) : (
                  <Td />
                )}
                <Td data-label={t('settings:factor')} className="text-ink-2">
                  <FactorWords member={member} />
                </Td>
                <Td end data-label={t('settings:lastSeen')} className="text-ink-2">
                  {member.lastSeenAt === null ? (
                    <span className="text-ink-3">{t('settings:lastSeen.never')}</span>
                  ) : (
                    <RelativeTime value={member.lastSeenAt} />
                  )}
                </Td>
                <Td end data-label={t('settings:joined')} className="text-ink-2 md:max-lg:hidden">
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
                        <MenuItem onSelect={() => setOpen({ act: 'sessions', member })}>
                          <MonitorSmartphone aria-hidden />
                          {t('settings:sessions')}
                        </MenuItem>
                        {member.totp || member.passkeys > 0 ? (
                          <MenuItem danger onSelect={() => setOpen({ act: 'reset', member })}>
                            <ShieldOff aria-hidden />
                            {t('settings:reset')}
                          </MenuItem>
                        ) : null}
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
      {open?.act === 'sessions' ? <SessionsDialog member={open.member} onClose={close} /> : null}
      {open?.act === 'reset' ? <ResetFactorsDialog member={open.member} onClose={close} /> : null}
      {open?.act === 'remove' ? <RemoveMemberDialog member={open.member} onClose={close} /> : null}
    </Card>
  );
}

/** What somebody shows besides a password, in words. */
function FactorWords({ member }: { member: Member }) {
  const { t } = useTranslation('settings');
  const words = [
    member.passkeys > 0 ? t('factor.passkey') : undefined,
    member.totp ? t('factor.totp') : undefined,
    member.hasProvider ? t('factor.provider') : undefined,
  ].filter((word) => word !== undefined);
  return words.length === 0 ? <span className="text-ink-3">{t('factor.none')}</span> : <span>{words.join(', ')}</span>;
}

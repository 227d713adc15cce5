'use client';

import { Ellipsis, MonitorSmartphone, ShieldOff, UserMinus, UserPen } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { Td, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { hasNamespaces, Namespaces, ScriptsChip } from '../role-cell.tsx';
import type { Member } from './member.ts';

export type MemberAct = 'edit' | 'sessions' | 'reset' | 'remove';

export interface MemberRowProps {
  member: Member;
  onAct(act: MemberAct): void;
}

export function MemberRow({ member, onAct }: MemberRowProps) {
  const { t } = useTranslation(['settings', 'common']);
  const reader = useReader();
  return (
    <Tr>
      <Td className="font-medium">
        <span className="flex items-center gap-2">
          <span translate="no">{member.name}</span>
          {member.id === reader.id ? <Chip className="font-normal">{t('settings:isYou')}</Chip> : null}
        </span>
      </Td>
      <Td data-label={t('settings:email')} className="text-ink-2 wrap-anywhere">
        {member.email}
      </Td>
      <Td data-label={t('settings:role')}>
        {t(`common:role.${member.role}`)}
        <ScriptsChip role={member.role} scripts={member.scripts} />
      </Td>
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
        <MemberMenu member={member} onAct={onAct} />
      </Td>
    </Tr>
  );
}

function MemberMenu({ member, onAct }: MemberRowProps) {
  const { t } = useTranslation('settings');
  return (
    <LazyMenu
      trigger={
        <IconButton size="sm" label={t('actsFor', { name: member.name })}>
          <Ellipsis aria-hidden />
        </IconButton>
      }
    >
      {({ MenuItem }) => (
        <>
          <MenuItem onSelect={() => onAct('edit')}>
            <UserPen aria-hidden />
            {t('edit')}
          </MenuItem>
          <MenuItem onSelect={() => onAct('sessions')}>
            <MonitorSmartphone aria-hidden />
            {t('sessions')}
          </MenuItem>
          {member.totp || member.passkeys > 0 ? (
            <MenuItem danger onSelect={() => onAct('reset')}>
              <ShieldOff aria-hidden />
              {t('reset')}
            </MenuItem>
          ) : null}
          <MenuItem danger onSelect={() => onAct('remove')}>
            <UserMinus aria-hidden />
            {t('remove')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}

function FactorWords({ member }: { member: Member }) {
  const { t } = useTranslation('settings');
  const words = [
    member.passkeys > 0 ? t('factor.passkey') : undefined,
    member.totp ? t('factor.totp') : undefined,
    member.hasProvider ? t('factor.provider') : undefined,
  ].filter((word) => word !== undefined);
  return words.length === 0 ? <span className="text-ink-3">{t('factor.none')}</span> : <span>{words.join(', ')}</span>;
}

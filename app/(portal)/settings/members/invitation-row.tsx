'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Td, Tr } from '#app/_ui/table.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { hasNamespaces, Namespaces } from '../role-cell.tsx';
import type { InvitationItem } from './invitation.ts';

export interface InvitationRowProps {
  invitation: InvitationItem;
  isRenewing: boolean;
  isRevoking: boolean;
  onRenew(): void;
  onRevoke(): void;
}

export function InvitationRow({ invitation, isRenewing, isRevoking, onRenew, onRevoke }: InvitationRowProps) {
  const { t } = useTranslation(['settings', 'common']);
  const role = t(`common:role.${invitation.role}`);
  const named = invitation.recipient ?? role;
  return (
    <Tr>
      <Td className="max-w-64 truncate font-medium" title={invitation.recipient ?? undefined}>
        {invitation.recipient ?? <span className="text-ink-3">{t('settings:invitations.anyone')}</span>}
      </Td>
      <Td data-label={t('settings:role')}>{role}</Td>
      {hasNamespaces(invitation.role) ? (
        <Td data-label={t('settings:namespaces')} className="whitespace-normal">
          <Namespaces role={invitation.role} namespaces={invitation.namespaces} />
        </Td>
      ) : (
        <Td />
      )}
      <Td data-label={t('settings:invitations.by')} className="text-ink-2">
        {invitation.createdBy ?? t('settings:invitations.portal')}
      </Td>
      <Td end data-label={t('settings:invitations.expires')} className="text-ink-2">
        <DateTime value={invitation.expiresAt} />
      </Td>
      <Td end className="w-px">
        <span className="inline-flex gap-2">
          <Button
            size="sm"
            busy={isRenewing}
            aria-label={t('settings:invitations.renew.label', { name: named })}
            onClick={onRenew}
          >
            {t('settings:invitations.renew')}
          </Button>
          <Button
            size="sm"
            variant="danger"
            busy={isRevoking}
            aria-label={t('settings:invitations.revoke.label', { name: named })}
            onClick={onRevoke}
          >
            {t('settings:invitations.revoke')}
          </Button>
        </span>
      </Td>
    </Tr>
  );
}

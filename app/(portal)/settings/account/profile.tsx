'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import type { Account } from '#app/(auth)/second-factor/account.ts';
import { ProviderRow } from './provider-row.tsx';
import { Row, Rows } from './rows.tsx';

const RenameDialog = dynamic(() => import('./rename-dialog.tsx').then((module) => module.RenameDialog), { ssr: false });
const PasswordDialog = dynamic(() => import('./password-dialog.tsx').then((module) => module.PasswordDialog), {
  ssr: false,
});

/**
 * Name, email address, role, password and provider account. `refused` is a sentence about why connecting a provider
 * account failed.
 */
export function Profile({ first, refused }: { first: Account; refused: string | undefined }) {
  const { t } = useTranslation(['account', 'common']);
  const trpc = useTRPC();
  const { data: account } = useQuery({ ...trpc.account.get.queryOptions(), initialData: first });
  const [open, setOpen] = useState<'name' | 'password'>();
  const close = () => setOpen(undefined);
  return (
    <Card>
      <CardHeader title={t('account:profile')} />
      <Rows>
        <Row
          label={t('account:name')}
          actions={
            <Button size="sm" onClick={() => setOpen('name')}>
              {t('account:name.change')}
            </Button>
          }
        >
          <span translate="no">{account.name}</span>
        </Row>
        <Row label={t('account:email')}>{account.email}</Row>
        <Row label={t('account:role')}>{t(`common:role.${account.role}`)}</Row>
        <Row
          label={t('account:password')}
          actions={
            account.hasPassword ? (
              <Button size="sm" onClick={() => setOpen('password')}>
                {t('account:password.change')}
              </Button>
            ) : undefined
          }
        >
          {account.hasPassword ? t('account:password.set') : t('account:password.none')}
        </Row>
        {account.provider === null ? null : (
          <ProviderRow name={account.provider} isConnected={account.hasProvider} refused={refused} />
        )}
      </Rows>
      {open === 'name' ? <RenameDialog name={account.name} onClose={close} /> : null}
      {open === 'password' ? <PasswordDialog email={account.email} onClose={close} /> : null}
    </Card>
  );
}

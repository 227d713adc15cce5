'use client';

import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { ResourceTable } from '../resource-table.tsx';
import type { ListedTokens, Token } from './token.ts';
import { isActive, TokenRow, tokenState } from './token-row.tsx';

const CreateTokenDialog = dynamic(
  () => import('./create-token-dialog.tsx').then((module) => module.CreateTokenDialog),
  { ssr: false },
);
const RevokeTokenDialog = dynamic(
  () => import('./revoke-token-dialog.tsx').then((module) => module.RevokeTokenDialog),
  { ssr: false },
);

/** All API tokens, with their role, last use, expiry and creator. */
export function Tokens({ first, portalUrl }: { first: ListedTokens; portalUrl: string }) {
  const { t } = useTranslation('settings');
  const trpc = useTRPC();
  const tokens = useQuery({ ...trpc.tokens.list.queryOptions(), initialData: first });
  const [open, setOpen] = useState<{ act: 'create' } | { act: 'revoke'; token: Token }>();
  const close = () => setOpen(undefined);
  const active = useTicking((now) =>
    String(tokens.data.items.filter((token) => isActive(tokenState(token, now))).length),
  );
  const create = (
    <Button variant="primary" onClick={() => setOpen({ act: 'create' })}>
      <Plus aria-hidden />
      {t('tokens.create')}
    </Button>
  );
  return (
    <ResourceTable
      title={t('tokens')}
      note={t('tokens.active', { count: Number(active) })}
      actions={create}
      query={tokens}
      failedTitle={t('tokens.failed')}
      columns={[
        { label: t('name') },
        { label: t('role') },
        { label: t('namespaces') },
        { label: t('tokens.lastUsed'), end: true },
        { label: t('tokens.expires'), end: true },
        { label: t('tokens.by'), end: true, className: 'md:max-lg:hidden' },
      ]}
      row={(token) => <TokenRow key={token.id} token={token} onRevoke={() => setOpen({ act: 'revoke', token })} />}
      empty={
        <EmptyState title={t('tokens.empty')} actions={create}>
          <p>{t('tokens.empty.why')}</p>
        </EmptyState>
      }
    >
      {open?.act === 'create' ? <CreateTokenDialog portalUrl={portalUrl} onClose={close} /> : null}
      {open?.act === 'revoke' ? <RevokeTokenDialog token={open.token} onClose={close} /> : null}
    </ResourceTable>
  );
}

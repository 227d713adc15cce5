'use client';

import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { Status } from '#app/_ui/status.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { narrowTable } from '../narrow-table.ts';
import { hasNamespaces, Namespaces } from '../role-cell.tsx';
import type { Token, TokenList } from './token.ts';

const CreateTokenDialog = dynamic(
  () => import('./create-token-dialog.tsx').then((module) => module.CreateTokenDialog),
  { ssr: false },
);
const RevokeTokenDialog = dynamic(
  () => import('./revoke-token-dialog.tsx').then((module) => module.RevokeTokenDialog),
  { ssr: false },
);

/** All API tokens with who made them, what they may, and when they were used last. */
export function Tokens({ first, portalUrl }: { first: TokenList; portalUrl: string }) {
  const { t } = useTranslation(['settings', 'common']);
  const trpc = useTRPC();
  const tokens = useQuery({ ...trpc.tokens.list.queryOptions(), initialData: first });
  const [open, setOpen] = useState<{ act: 'create' } | { act: 'revoke'; token: Token }>();
  const close = () => setOpen(undefined);
  const items = tokens.data.items;
  const active = useTicking((now) =>
    String(items.filter((token) => ['active', 'ending'].includes(stateOf(token, now))).length),
  );

  const create = (
    <Button variant="primary" onClick={() => setOpen({ act: 'create' })}>
      <Plus aria-hidden />
      {t('settings:tokens.create')}
    </Button>
  );
  return (
    <Card>
      {tokens.error === null ? null : (
        <QueryError
          error={tokens.error}
          title={t('settings:tokens.failed')}
          onRetry={tokens.refetch}
          at={new Date(tokens.errorUpdatedAt)}
        />
      )}
      {items.length === 0 ? (
        <EmptyState title={t('settings:tokens.empty')} actions={create}>
          <p>{t('settings:tokens.empty.why')}</p>
        </EmptyState>
      ) : (
        <>
          <CardHeader
            title={t('settings:tokens')}
            note={t('settings:tokens.active', { count: Number(active) })}
            actions={create}
          />
          <TableFrame label={t('settings:tokens')}>
            <Table className={narrowTable}>
              <THead>
                <tr>
                  <Th>{t('settings:name')}</Th>
                  <Th>{t('settings:role')}</Th>
                  <Th>{t('settings:namespaces')}</Th>
                  <Th end>{t('settings:tokens.lastUsed')}</Th>
                  <Th end>{t('settings:tokens.expires')}</Th>
                  <Th end className="md:max-lg:hidden">
                    {t('settings:tokens.by')}
                  </Th>
                  <Th>
                    <span className="sr-only">{t('settings:acts')}</span>
                  </Th>
                </tr>
              </THead>
              <TBody>
                {items.map((token) => (
                  <TokenRow key={token.id} token={token} onRevoke={() => setOpen({ act: 'revoke', token })} />
                ))}
              </TBody>
            </Table>
          </TableFrame>
        </>
      )}
      {open?.act === 'create' ? <CreateTokenDialog portalUrl={portalUrl} onClose={close} /> : null}
      {open?.act === 'revoke' ? <RevokeTokenDialog token={open.token} onClose={close} /> : null}
    </Card>
  );
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const state = useTicking((now) => stateOf(token, now));
  const isActive = state === 'active' || state === 'ending';
  return (
    <Tr leaving={!isActive}>
      <Td translate="no" className={isActive ? 'font-medium' : 'line-through'}>
        {token.name}
      </Td>
      <Td data-label={t('settings:role')}>{t(`common:role.${token.role}`)}</Td>
      {hasNamespaces(token.role) ? (
        <Td data-label={t('settings:namespaces')} className="whitespace-normal">
          <Namespaces role={token.role} namespaces={token.namespaces} />
        </Td>
      ) : (
        <Td />
      )}
      <Td end data-label={t('settings:tokens.lastUsed')}>
        {token.lastUsedAt === null ? (
          <span className="text-ink-3">{t('settings:tokens.lastUsed.never')}</span>
        ) : (
          <>
            <RelativeTime value={token.lastUsedAt} />
            {token.lastUsedFrom === null ? null : (
              <span className="text-ink-3"> {t('settings:tokens.lastUsed.from', { address: token.lastUsedFrom })}</span>
            )}
          </>
        )}
      </Td>
      <Td end data-label={t('settings:tokens.expires')}>
        {token.expiresAt === null ? (
          <span className="text-ink-3">{t('settings:tokens.expires.never')}</span>
        ) : (
          <Expiry state={state} value={token.expiresAt} />
        )}
      </Td>
      <Td end data-label={t('settings:tokens.by')} className="text-ink-2 md:max-lg:hidden">
        <DateTime value={token.createdAt} style="date" />
        {token.createdBy === null ? null : ` ${t('settings:tokens.by.who', { name: token.createdBy })}`}
      </Td>
      <Td end className="w-px">
        {isActive ? (
          <Button
            size="sm"
            variant="danger"
            aria-label={t('settings:tokens.revoke.label', { name: token.name })}
            onClick={onRevoke}
          >
            {t('settings:tokens.revoke')}
          </Button>
        ) : (
          <span>{t(token.revokedAt === null ? 'settings:tokens.state.expired' : 'settings:tokens.state.revoked')}</span>
        )}
      </Td>
    </Tr>
  );
}

/** The day on which a token ends; soon is said aloud, while there is time to make another. */
function Expiry({ state, value }: { state: string; value: Date }) {
  if (state !== 'ending') return <DateTime value={value} style="date" />;
  return (
    <Status status="warning">
      <RelativeTime value={value} />
    </Status>
  );
}

/** Warned of this long before a token ends. */
const warnMs = 7 * 24 * 60 * 60 * 1000;

function stateOf(token: Token, now: number): 'active' | 'ending' | 'expired' | 'revoked' {
  if (token.revokedAt !== null) return 'revoked';
  if (token.expiresAt === null) return 'active';
  const left = token.expiresAt.getTime() - now;
  if (left <= 0) return 'expired';
  return left <= warnMs ? 'ending' : 'active';
}

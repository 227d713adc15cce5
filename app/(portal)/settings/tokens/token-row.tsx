'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useTicking } from '#app/_ui/clock.ts';
import { cn } from '#app/_ui/cn.ts';
import { Status } from '#app/_ui/status.tsx';
import { Td, Tr } from '#app/_ui/table.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { hasNamespaces, Namespaces, ScriptsChip } from '../role-cell.tsx';
import type { Token } from './token.ts';

export function TokenRow({ token, onRevoke }: { token: Token; onRevoke(): void }) {
  const { t } = useTranslation(['settings', 'common']);
  const state = useTicking((now) => tokenState(token, now));
  const works = isActive(state);
  return (
    <Tr leaving={!works}>
      <Td
        translate="no"
        className={cn(
          'wrap-anywhere whitespace-normal md:min-w-40 md:max-w-56',
          works ? 'font-medium' : 'line-through',
        )}
      >
        {token.name}
      </Td>
      <Td data-label={t('settings:role')}>
        {t(`common:role.${token.role}`)}
        <ScriptsChip role={token.role} scripts={token.scripts} />
      </Td>
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
        {works ? (
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

function Expiry({ state, value }: { state: TokenState; value: Date }) {
  if (state !== 'ending') return <DateTime value={value} style="date" />;
  return (
    <Status status="warning">
      <RelativeTime value={value} />
    </Status>
  );
}

/** How long before its expiry a token gets a warning, in milliseconds. */
const warnMs = 7 * 24 * 60 * 60 * 1000;

export type TokenState = 'active' | 'ending' | 'expired' | 'revoked';

export const isActive = (state: TokenState): boolean => state === 'active' || state === 'ending';

export function tokenState(token: Token, now: number): TokenState {
  if (token.revokedAt !== null) return 'revoked';
  if (token.expiresAt === null) return 'active';
  const left = token.expiresAt.getTime() - now;
  if (left <= 0) return 'expired';
  return left <= warnMs ? 'ending' : 'active';
}

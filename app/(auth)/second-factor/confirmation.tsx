'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { canUsePasskeys } from '#app/_lib/passkeys.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { FactorForm, type FactorKind } from '../factor-form.tsx';
import type { Account } from './account.ts';

/**
 * Asks for the password or another factor of the account, to confirm the reader's identity before a sensitive change.
 */
export function Confirmation({ account, onDone }: { account: Account; onDone(): void }) {
  const trpc = useTRPC();
  const start = useMutation(trpc.account.startConfirmation.mutationOptions());
  const confirm = useMutation(trpc.account.confirm.mutationOptions());
  const kinds = kindsOf(account);
  return (
    <FactorForm
      kinds={kinds}
      askPasskey={() => start.mutateAsync()}
      onShow={async (shown) => {
        await confirm.mutateAsync(shown);
        onDone();
      }}
    />
  );
}

/**
 * Returns the factors that this account can use for a confirmation in this browser; empty if the reader can only sign
 * in through the provider again.
 */
export function kindsOf(account: Account): FactorKind[] {
  const kinds: FactorKind[] = [];
  if (account.hasPassword) kinds.push('password');
  if (account.passkeys.length > 0 && canUsePasskeys()) kinds.push('passkey');
  if (account.totp !== null) kinds.push('totp');
  if (account.recoveryCodesLeft > 0) kinds.push('recoveryCode');
  return kinds;
}

/** A confirmation that expires within this time counts as expired, because it could expire while a dialog is open. */
const reserveMs = 60_000;

/** Returns whether the last confirmation is still valid, and a function to call after a new confirmation. */
export function useIsConfirmed(account: Account): [boolean, () => void] {
  const [until, setUntil] = useState(account.confirmedUntil.getTime());
  return [until - Date.now() > reserveMs, () => setUntil(Date.now() + 10 * reserveMs)];
}

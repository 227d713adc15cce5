'use client';

import { LogOut, UserRound } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { signOut } from '../_lib/session.ts';
import { useProblem } from '../_lib/use-problem.ts';
import { Avatar } from '../_ui/avatar.tsx';
import { LazyMenu } from '../_ui/lazy-menu.tsx';
import { toast } from '../_ui/toast.tsx';
import { useReader } from './reader.tsx';

/** The menu of the signed-in account: name, role, account settings and sign-out. */
export function AccountMenu({ showName = false }: { showName?: boolean }) {
  const { t } = useTranslation(['navigation', 'common']);
  const reader = useReader();
  const router = useRouter();
  const explain = useProblem();
  const [busy, setBusy] = useState(false);

  async function leave() {
    setBusy(true);
    try {
      await signOut();
      // A full page load, so that nothing of this account stays in memory.
      location.assign('/sign-in');
    } catch (error) {
      setBusy(false);
      toast(t('navigation:signOut.failed', { reason: explain(error).message }));
    }
  }

  return (
    <LazyMenu
      align="start"
      trigger={
        <button
          type="button"
          className="flex min-h-9 w-full items-center gap-[9px] rounded-md p-2 text-ink-2 hover:bg-hover hover:text-ink max-lg:justify-center pointer-coarse:min-h-10"
        >
          <Avatar name={reader.name} />
          <span translate="no" className={showName ? 'min-w-0 truncate text-start max-lg:sr-only' : 'sr-only'}>
            {reader.name}
          </span>
          <span className="sr-only">, {t('navigation:account')}</span>
        </button>
      }
    >
      {({ MenuItem, MenuSeparator }) => (
        <>
          <div className="px-2 py-1">
            <div translate="no" className="font-medium">
              {reader.name}
            </div>
            <div className="text-12 text-ink-3">{t(`common:role.${reader.role}`)}</div>
          </div>
          <MenuSeparator />
          <MenuItem onSelect={() => router.push('/settings/account')}>
            <UserRound aria-hidden />
            {t('navigation:ownAccount')}
          </MenuItem>
          <MenuItem disabled={busy} onSelect={() => void leave()}>
            <LogOut aria-hidden className="rtl:-scale-x-100" />
            {t('navigation:signOut')}
          </MenuItem>
        </>
      )}
    </LazyMenu>
  );
}

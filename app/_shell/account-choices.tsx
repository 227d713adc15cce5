'use client';

import { LogOut, UserRound } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { isSigningOut, signOut } from '../_lib/session.ts';
import { useProblem } from '../_lib/use-problem.ts';
import { MenuItem, MenuSeparator } from '../_ui/dropdown-menu.tsx';
import { toast } from '../_ui/toast.tsx';
import { useReader } from './reader.tsx';

/** The contents of the account menu. */
export function AccountChoices() {
  const { t } = useTranslation(['navigation', 'common']);
  const reader = useReader();
  const router = useRouter();
  const explain = useProblem();

  async function leave() {
    try {
      await signOut();
      // A full page load, so that nothing of this account stays in memory.
      location.assign('/sign-in');
    } catch (error) {
      toast(t('navigation:signOut.failed', { reason: explain(error).message }));
    }
  }

  return (
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
      <MenuItem disabled={isSigningOut()} onSelect={() => void leave()}>
        <LogOut aria-hidden className="rtl:-scale-x-100" />
        {t('navigation:signOut')}
      </MenuItem>
    </>
  );
}

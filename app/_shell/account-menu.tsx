'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Avatar } from '../_ui/avatar.tsx';
import { LazyMenu } from '../_ui/lazy-menu.tsx';
import { useReader } from './reader.tsx';

/** The menu of the signed-in account: name, role, account settings and sign-out. */
export function AccountMenu({ showName = false }: { showName?: boolean }) {
  const { t } = useTranslation('navigation');
  const reader = useReader();
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
          <span className="sr-only">, {t('account')}</span>
        </button>
      }
      load={() => import('./account-choices.tsx')}
    >
      {({ AccountChoices }) => <AccountChoices />}
    </LazyMenu>
  );
}

'use client';

import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useEffect, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';

const ConfirmDialog = dynamic(() => import('#app/_ui/confirm-dialog.tsx').then((module) => module.ConfirmDialog), {
  ssr: false,
});

/** Asks before a link, a reload or a closed tab takes away what was typed. */
export function LeaveGuard({ active }: { active: boolean }) {
  const { t } = useTranslation('editor');
  const router = useRouter();
  const [target, setTarget] = useState<string | null>(null);

  useEffect(() => {
    if (!active) return;
    const beforeUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const click = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
      if (!(link instanceof HTMLAnchorElement) || link.target === '_blank') return;
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      const to = new URL(link.href);
      if (to.origin !== location.origin || to.pathname + to.search === location.pathname + location.search) return;
      event.preventDefault();
      event.stopPropagation();
      setTarget(to.pathname + to.search);
    };
    addEventListener('beforeunload', beforeUnload);
    document.addEventListener('click', click, true);
    return () => {
      removeEventListener('beforeunload', beforeUnload);
      document.removeEventListener('click', click, true);
    };
  }, [active]);

  if (target === null) return null;
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || setTarget(null)}
      title={t('leave.title')}
      description={t('leave.why')}
      confirmLabel={t('leave.confirm')}
      cancelLabel={t('leave.stay')}
      onConfirm={() => router.push(target)}
    />
  );
}

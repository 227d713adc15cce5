'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRetry } from '../_lib/live/use-retry.ts';
import { TopBar } from '../_shell/top-bar.tsx';
import { Card } from '../_ui/card.tsx';
import { ErrorState } from '../_ui/error-state.tsx';

/**
 * Shown if a page fails to render. The menu and the tools remain, and the page retries when the connection is restored.
 */
export default function PortalError({ error, reset }: { error: Error & { digest?: string }; reset(): void }) {
  const { t } = useTranslation('common');
  const retry = useRetry(reset);
  return (
    <div className="flex min-h-dvh min-w-0 flex-col max-sm:pb-(--tabbar)">
      <title>{`${t('problem.page')} · Annex`}</title>
      <TopBar />
      <main id="main" className="p-(--gutter)">
        <Card>
          <ErrorState
            as="h1"
            title={t('problem.page')}
            message={t('problem.pageWhy')}
            requestId={error.digest}
            onRetry={retry}
          />
        </Card>
      </main>
    </div>
  );
}

'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRetry } from '../_lib/live/use-retry.ts';
import { Card } from '../_ui/card.tsx';
import { ErrorState } from '../_ui/error-state.tsx';

/** Shown if a page fails to render. The menu remains, and the page retries when the connection is restored. */
export default function PortalError({ error, reset }: { error: Error & { digest?: string }; reset(): void }) {
  const { t } = useTranslation('common');
  const retry = useRetry(reset);
  return (
    <main id="main" className="min-w-0 p-(--gutter)">
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
  );
}

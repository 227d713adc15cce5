'use client';

import { unstable_rethrow, useRouter } from 'next/navigation';
import { Component, type ReactNode, startTransition } from 'react';
import { Card } from '../_ui/card.tsx';
import { ErrorState } from '../_ui/error-state.tsx';
import { useTranslation } from './i18n/client.tsx';

interface Crash {
  error: Error & { digest?: string };
}

/**
 * Catches errors that no page caught, while texts and styles are still available. The usual cause is that the database
 * is down and not even the session can be read. The root layout imports this component, so everything that this
 * component imports is bundled once for all pages.
 */
export class CrashBoundary extends Component<{ children: ReactNode }, { crash: Crash | null }> {
  override state: { crash: Crash | null } = { crash: null };

  static getDerivedStateFromError(error: Error): { crash: Crash } {
    // Redirects and "not found" are thrown too; Next.js handles them.
    unstable_rethrow(error);
    return { crash: { error } };
  }

  override render(): ReactNode {
    const { crash } = this.state;
    if (crash === null) return this.props.children;
    return <CrashPage error={crash.error} onRetry={() => this.setState({ crash: null })} />;
  }
}

function CrashPage({ error, onRetry }: Crash & { onRetry(): void }) {
  const { t } = useTranslation('common');
  const router = useRouter();
  return (
    <main className="grid justify-items-center px-4 pt-[16vh]">
      <Card className="w-full max-w-[420px]">
        <ErrorState
          as="h1"
          title={t('problem.page')}
          message={t('problem.pageWhy')}
          requestId={error.digest}
          onRetry={() =>
            startTransition(() => {
              router.refresh();
              onRetry();
            })
          }
        />
      </Card>
    </main>
  );
}

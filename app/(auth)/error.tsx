'use client';

import { useRouter } from 'next/navigation';
import { startTransition } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card } from '#app/_ui/card.tsx';
import { ErrorState } from '#app/_ui/error-state.tsx';

/** Sign-in or set-up could not be made: most often the database is away. */
export default function AuthError({ error, reset }: { error: Error & { digest?: string }; reset(): void }) {
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
              reset();
            })
          }
        />
      </Card>
    </main>
  );
}

'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { writeChoice } from '../_lib/cookies.ts';
import { useTRPCClient } from '../_lib/trpc.tsx';
import { useProblem } from '../_lib/use-problem.ts';
import { toast } from '../_ui/toast.tsx';

/**
 * Returns a function that sets the language: for the account, and in a cookie for the pages that are shown before
 * signing in. It then reloads everything in that language.
 */
export function useLanguageChoice(): (language: string) => Promise<void> {
  const { t } = useTranslation('navigation');
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const router = useRouter();
  const explain = useProblem();
  return async (language) => {
    try {
      await client.account.setLanguage.mutate({ language });
    } catch (error) {
      toast(t('language.failed', { reason: explain(error).message }));
      return;
    }
    writeChoice('language', language);
    router.refresh();
    // Loads all messages again, because the portal translated the loaded messages into the previous language.
    void queryClient.invalidateQueries();
  };
}

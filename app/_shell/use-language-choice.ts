'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { writeChoice } from '../_lib/cookies.ts';
import { useTRPCClient } from '../_lib/trpc.tsx';
import { useProblem } from '../_lib/use-problem.ts';
import { toast } from '../_ui/toast.tsx';

/**
 * Chooses the language of who is signed in: for the account, and in this browser's cookie for the pages before the
 * sign-in. Then everything is read again in it.
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
    // Messages were worded by the portal in the old language.
    void queryClient.invalidateQueries();
  };
}

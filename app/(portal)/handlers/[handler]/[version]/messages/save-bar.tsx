'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { CardFooter } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { storeLanguage } from './store-language.ts';
import type { Messages } from './use-messages.ts';

export interface SaveBarProps {
  handler: string;
  version: string;
  messages: Messages;
}

/** Saves what was typed, language by language. */
export function SaveBar({ handler, version, messages }: SaveBarProps) {
  const { t } = useTranslation('localization');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const save = useMutation({ mutationFn: storeLanguage, networkMode: 'always' });
  const problem = save.error ? explain(save.error) : undefined;
  if (messages.changes.size === 0 && problem === undefined) return null;

  const saveLanguage = async (lang: string) => {
    await save
      .mutateAsync({ handler, version, lang, file: messages.fileOf(lang) })
      .catch(() => undefined)
      .then(async (stored) => {
        if (stored === undefined) return;
        await Promise.all([
          queryClient.invalidateQueries(trpc.resources.pathFilter()),
          queryClient.invalidateQueries(trpc.handlers.pathFilter()),
        ]);
        messages.discard(lang);
        toast(t('saved', { lang, count: stored.messages }));
      });
  };

  return (
    <CardFooter>
      {[...messages.changes].map(([lang, count]) => (
        <span key={lang} className="inline-flex items-center gap-1">
          <Button busy={save.isPending} onClick={() => void saveLanguage(lang)}>
            {t('save', { lang, count })}
          </Button>
          <Button variant="ghost" aria-label={t('discard.of', { lang })} onClick={() => messages.discard(lang)}>
            {t('discard')}
          </Button>
        </span>
      ))}
      {problem ? (
        <div role="alert" className="grid basis-full gap-1">
          <FieldError>{problem.message}</FieldError>
          {problem.faults.map((fault) => (
            <FieldError key={`${fault.path} ${fault.code}`}>
              <code className="mono me-1.5">{fault.path}</code>
              {fault.message}
            </FieldError>
          ))}
        </div>
      ) : null}
    </CardFooter>
  );
}

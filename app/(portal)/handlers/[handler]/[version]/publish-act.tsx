'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { FieldError } from '#app/_ui/field.tsx';

export interface PublishActProps {
  handler: string;
  version: string;
  languages: readonly string[];
  /** Messages were typed and not saved. */
  unsaved: boolean;
  onPublished(): void;
}

/** Publishes the draft. What blocks it stands beside it as a link to its place. */
export function PublishAct({ handler, version, languages, unsaved, onPublished }: PublishActProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const explain = useProblem();
  const publish = useMutation(
    trpc.packages.publish.mutationOptions({
      onSuccess: async () => {
        await Promise.all([
          queryClient.invalidateQueries(trpc.packages.pathFilter()),
          queryClient.invalidateQueries(trpc.handlers.pathFilter()),
        ]);
        onPublished();
      },
    }),
  );
  const blocked = unsaved
    ? t('publish.blocked.unsaved')
    : languages.length > 0 && !languages.includes('en')
      ? t('publish.blocked.english')
      : undefined;
  return (
    <>
      {publish.error ? (
        <span role="alert">
          <FieldError>{explain(publish.error).message}</FieldError>
        </span>
      ) : null}
      {blocked ? (
        <a
          href="#messages"
          id="publish-blocked"
          className="rounded-xs text-ink-2 underline decoration-line underline-offset-3 hover:text-ink"
        >
          {blocked}
        </a>
      ) : null}
      <Button
        variant="primary"
        disabled={blocked !== undefined}
        aria-describedby={blocked ? 'publish-blocked' : undefined}
        busy={publish.isPending}
        onClick={() => publish.mutate({ handler, version })}
      >
        {t('publish.act', { version })}
      </Button>
    </>
  );
}

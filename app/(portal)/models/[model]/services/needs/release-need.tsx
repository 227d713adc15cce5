'use client';

import { useMutation } from '@tanstack/react-query';
import { LockOpen } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { useReloadServices } from '../acts/use-set-service.ts';
import { serviceHref, unitHref } from '../service-data.ts';
import { NeedLine } from './need-line.tsx';
import type { NeedProps } from './need-props.ts';
import { useUnitNames } from './use-unit-names.ts';

/** A service whose protected settings are withheld from machines. Only admins can release them. */
export function ReleaseNeed({ need: { service, units }, model, page }: NeedProps<'release'>) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const explain = useProblem();
  const names = useUnitNames();
  const reload = useReloadServices();
  const isAdmin = useReader().can('admin');
  const release = useMutation(trpc.services.release.mutationOptions({ onSettled: reload }));
  const count = units.length;
  const [first] = units;
  const opened =
    count === 1 && first !== undefined
      ? { name: first.unit, href: unitHref(model, first.unit) }
      : service === page
        ? null
        : { name: service, href: serviceHref(model, service) };
  return (
    <NeedLine
      status="warning"
      title={t('needs.release', { service, count })}
      why={
        <>
          <p>
            {t('needs.release.why', { names: names(units), count })} {isAdmin ? null : t('needs.release.admin')}
          </p>
          <div role="alert">
            {release.error === null ? null : <FieldError>{explain(release.error).message}</FieldError>}
          </div>
        </>
      }
    >
      {isAdmin ? (
        <Button busy={release.isPending} onClick={() => release.mutate({ model, service })}>
          <LockOpen aria-hidden />
          {t('needs.release.act', { count })}
        </Button>
      ) : null}
      {opened === null ? null : (
        <Button asChild>
          <Link href={opened.href} prefetch={false}>
            {t('needs.open', { name: opened.name })}
          </Link>
        </Button>
      )}
    </NeedLine>
  );
}

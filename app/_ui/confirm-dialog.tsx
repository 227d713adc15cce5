'use client';

import * as Radix from 'radix-ui/alert-dialog';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from './button.tsx';
import { closeOnEscape, scrim, sheet } from './dialog.tsx';
import { FieldError } from './field.tsx';
import { Form } from './form.tsx';
import { Input } from './input.tsx';
import { currentOpener, restoreFocus } from './opener.ts';
import { allowScrollLock } from './style-nonce.ts';

export interface ConfirmDialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  /** The action and its extent as a question, such as "Delete 3 VMs?". */
  title: ReactNode;
  /** What the action does, and whether it can be undone. */
  description: ReactNode;
  /** The action as the button's label, such as "Delete 3 VMs". */
  confirmLabel: string;
  /** Label of the button that changes nothing; "Cancel" by default. */
  cancelLabel?: string;
  /** A phrase that must be typed first, such as "delete 3", for an action that cannot be undone. */
  phrase?: string;
  /** May return a promise; the dialog closes when it resolves and stays open when it rejects. */
  onConfirm(): Promise<unknown> | unknown;
  /** A sentence about the error of the last attempt. */
  error?: ReactNode;
  /** More content, such as the names of what is affected. */
  children?: ReactNode;
  /** `default` for actions that only need a confirmation. */
  tone?: 'danger' | 'default';
}

/** Asks for confirmation of an action, usually a destructive action. Esc and Cancel change nothing. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const [opener] = useState(currentOpener);
  useState(allowScrollLock);
  return (
    <Radix.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content
          className={sheet}
          onCloseAutoFocus={(event) => restoreFocus(event, opener)}
          onKeyDown={closeOnEscape(() => props.onOpenChange(false))}
        >
          <Question {...props} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Mounted only while the dialog is open, so that closing the dialog clears the typed phrase. */
function Question(props: ConfirmDialogProps) {
  const { t } = useTranslation('common');
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const inputId = useId();
  const ready = props.phrase === undefined || typed.trim() === props.phrase;

  async function act() {
    if (!ready) return;
    setBusy(true);
    try {
      await props.onConfirm();
      props.onOpenChange(false);
    } catch {
      // The caller shows the reason through `error`, and the dialog stays open.
    } finally {
      setBusy(false);
    }
  }

  return (
    <Form className="grid grid-cols-[minmax(0,1fr)] gap-3" busy={busy} onSubmit={() => void act()}>
      <Radix.Title className="text-16 font-semibold tracking-tight">{props.title}</Radix.Title>
      <Radix.Description className="text-pretty text-ink-2">{props.description}</Radix.Description>
      {props.children}
      {props.phrase === undefined ? null : (
        <div className="grid gap-[5px]">
          <label htmlFor={inputId} className="text-12 font-medium">
            {t('confirm.type', { phrase: props.phrase })}
          </label>
          <Input
            id={inputId}
            mono
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
      )}
      {props.error ? (
        <div role="alert">
          <FieldError>{props.error}</FieldError>
        </div>
      ) : null}
      <div className="mt-1 flex flex-wrap justify-end gap-2 max-sm:*:grow">
        <Radix.Cancel asChild>
          <Button>{props.cancelLabel ?? t('cancel')}</Button>
        </Radix.Cancel>
        <Button
          type="submit"
          variant={props.tone === 'default' ? 'primary' : 'danger-solid'}
          disabled={!ready}
          busy={busy}
        >
          {props.confirmLabel}
        </Button>
      </div>
    </Form>
  );
}

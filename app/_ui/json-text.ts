import { Annotation, type EditorState, type TransactionSpec } from '@codemirror/state';

/** Marks a change that does not come from the keyboard, and is not reported as one. */
export const fromOutside = Annotation.define<boolean>();

/**
 * Replaces the whole text. With `joinsUndo` it becomes one step of the history together with the change before it, so
 * that undoing it does not bring back the text it replaced.
 */
export function replaceText(state: EditorState, text: string, joinsUndo: boolean): TransactionSpec {
  return {
    changes: { from: 0, to: state.doc.length, insert: text },
    annotations: fromOutside.of(true),
    // The history of CodeMirror always joins a change of a composition with the one before it.
    ...(joinsUndo && { userEvent: 'input.type.compose' }),
  };
}

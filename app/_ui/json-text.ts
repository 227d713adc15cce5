import { Annotation, type EditorState, type TransactionSpec } from '@codemirror/state';

/** Marks a change that was not typed, which the editor does not report to the page. */
export const fromOutside = Annotation.define<boolean>();

/**
 * Replaces the whole text. With `joinsUndo`, the replacement and the change before it become one undo step, so that
 * undo does not restore the text that was replaced.
 */
export function replaceText(state: EditorState, text: string, joinsUndo: boolean): TransactionSpec {
  return {
    changes: { from: 0, to: state.doc.length, insert: text },
    annotations: fromOutside.of(true),
    // CodeMirror's history always joins a change during a composition with the change before it.
    ...(joinsUndo && { userEvent: 'input.type.compose' }),
  };
}

import { Component, type ReactNode } from "react";

type Props = { readonly children: ReactNode; /** What stands there instead. */ readonly instead: ReactNode };

/** What can't be shown takes nothing else with it. React catches so only in a class. */
export class ErrorBoundary extends Component<Props, { readonly hasFallen: boolean }> {
  override state = { hasFallen: false };
  static getDerivedStateFromError() {
    return { hasFallen: true };
  }
  override render() {
    return this.state.hasFallen ? this.props.instead : this.props.children;
  }
}

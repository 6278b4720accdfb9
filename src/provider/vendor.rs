//! The vendors of each kind of service, by name: a table has a line for each of them.

/// A vendor: its codec, and where its service usually is.
#[derive(Debug)]
pub struct Vendor<C: ?Sized + 'static> {
    /// As settings name it.
    pub name: &'static str,
    /// The base URL of those who have their own or the vendor's only one; none where there is no usual one.
    pub base: Option<&'static str>,
    /// What is said to it, and how its replies are read.
    pub codec: &'static C,
}

/// The vendor of that name.
pub fn vendor<C: ?Sized>(vendors: &'static [Vendor<C>], name: &str) -> Option<&'static Vendor<C>> {
    vendors.iter().find(|vendor| vendor.name == name)
}

/// All names, for whoever chose another.
pub fn names<C: ?Sized>(vendors: &'static [Vendor<C>]) -> String {
    vendors.iter().map(|vendor| vendor.name).collect::<Vec<_>>().join(", ")
}

// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Stands for a Boost that is one version too old.

#ifndef BOOST_VERSION_HPP
#define BOOST_VERSION_HPP

#define BOOST_VERSION 108000

#endif
